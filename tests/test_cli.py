"""The command line: what it writes, what it says when something is wrong, and that help is fast."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest

from neardup.cli import _COMMANDS, main
from tests.prose import article, edited


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line in this process: (exit code, stdout, stderr)."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["neardup", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "80")
        code = 0
        try:
            main()
        except SystemExit as done:
            code = done.code or 0
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def corpus(tmp_path):
    """30 articles, 10 of them with a near copy on another host."""
    path = tmp_path / "pages.jsonl"
    with path.open("w") as lines:
        for n in range(30):
            row = {"id": f"p{n}", "url": f"http://one.example/a/{n}", "text": article(n), "x": n}
            lines.write(json.dumps(row) + "\n")
        for n in range(10):
            url = f"http://two.example/mirror/{n}"
            row = {"id": f"m{n}", "url": url, "text": edited(article(n), n), "x": 100 + n}
            lines.write(json.dumps(row) + "\n")
    return path


def test_dedup_writes_the_whole_output_folder(run, corpus, tmp_path):
    out = tmp_path / "out"
    code, stdout, _ = run("dedup", corpus, "-o", out, "--recipe", "text", "--show", 3)
    assert code == 0
    names = sorted(os.listdir(out))
    assert names == [
        "clusters.parquet", "hosts.parquet", "kept.jsonl", "recipe.toml", "report.html",
        "skipped.jsonl", "summary.json",
    ]  # fmt: skip
    kept = (out / "kept.jsonl").read_text().splitlines()
    assert kept == corpus.read_text().splitlines()[:30]
    clusters = pq.read_table(out / "clusters.parquet")
    assert clusters.column_names == ["id", "cluster", "kept", "similarity", "found_by", "verdict"]
    assert clusters.num_rows == 40
    (mirror,) = pq.read_table(out / "hosts.parquet").to_pylist()
    assert (mirror["host"], mirror["mirror"]) == ("one.example", "two.example")
    assert (mirror["host_path"], mirror["mirror_path"]) == ("/a/", "/mirror/")
    assert mirror["share"] == mirror["mapped"] == 1.0
    assert "p0" in stdout
    assert "40" in stdout
    assert str(out / "report.html") in stdout.replace("\n", "")
    assert json.loads((out / "summary.json").read_text())["removed"] == 10
    assert max(len(line) for line in stdout.splitlines() if "report:" not in line) <= 80


def test_annotate_keeps_every_row(run, corpus, tmp_path):
    code, _, _ = run("dedup", corpus, "-o", tmp_path / "out", "--recipe", "text", "--annotate")
    assert code == 0
    rows = [json.loads(line) for line in (tmp_path / "out/kept.jsonl").read_text().splitlines()]
    assert len(rows) == 40
    by_id = {row["id"]: row for row in rows}
    assert by_id["m3"] == {
        **by_id["m3"],
        "cluster": "p3",
        "cluster_size": 2,
        "kept": False,
        "x": 103,
    }
    assert by_id["p20"]["kept"] is True
    assert by_id["p20"]["cluster_size"] == 1


def test_against_an_earlier_output(run, corpus, tmp_path):
    assert run("dedup", corpus, "-o", tmp_path / "one", "--recipe", "text")[0] == 0
    new = tmp_path / "new.jsonl"
    rows = [{"id": "n1", "text": edited(article(4), 77)}, {"id": "n2", "text": article(99)}]
    new.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ("-o", tmp_path / "two", "--recipe", "text", "--against", tmp_path / "one")
    assert run("dedup", new, *options)[0] == 0
    clusters = pq.read_table(tmp_path / "two/clusters.parquet").to_pylist()
    assert [(row["id"], row["cluster"], row["kept"]) for row in clusters] == [
        ("n1", "p4", False),
        ("n2", "n2", True),
    ]
    assert len((tmp_path / "two/kept.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dedup", "nowhere.jsonl", "-o", "OUT"], "nowhere.jsonl"),
        (["dedup", "CORPUS"], "--out"),
        (["dedup", "CORPUS", "-o", "OUT", "--recipe", "wbe"], "unknown recipe 'wbe'"),
        (["dedup", "CORPUS", "-o", "OUT", "--keep", "best"], "unknown keep rule 'best'"),
        (["dedup", "CORPUS", "-o", "OUT", "--keep", "max:nope"], "nope"),
        (["dedup", "CORPUS", "-o", "OUT", "--text-field", "nope"], "nope"),
        (["dedup", "CORPUS", "-o", "OUT", "--threshold", "3"], "--threshold"),
        (["dedup", "CORPUS", "-o", "OUT", "--threads", "0"], "--threads"),
        (["dedup", "CORPUS", "-o", "CORPUS"], "not a folder"),
        (["dedup", "CORPUS", "-o", "OUT", "--against", "gone"], "gone"),
        (["dedup", "EMPTY", "-o", "OUT"], "empty"),
        (["dedup", "BLANK", "-o", "OUT"], "no pages in"),
        (["dedup", "my missing file", "-o", "OUT"], "my missing file"),
        (["dedup", "", "-o", "OUT"], "no such file"),
        (["dedup", "CORPUS", "-o", "OUT", "--keep", "oldest"], "no page has a date"),
        (["dedup", "CORPUS", "-o", "OUT", "--recipe", "exact", "--threshold", "0.5"], "threshold"),
        (["compare", "CORPUS", "gone.html"], "gone.html"),
        (["fingerprint", "CORPUS", "--spec", "Nohash()"], "unknown spec 'Nohash'"),
        (["recipes", "nope"], "unknown recipe 'nope'"),
        (["dedpu"], "No such command"),
        (["dedup", "--nope"], "--nope"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(run, corpus, tmp_path, arguments, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "blank.jsonl").write_text("\n\n")
    names = {"CORPUS": corpus, "OUT": tmp_path / "out", "EMPTY": tmp_path / "empty"}
    names["BLANK"] = tmp_path / "blank.jsonl"
    code, stdout, stderr = run(*(names.get(argument, argument) for argument in arguments))
    assert code == 2
    assert stdout == ""
    assert message in stderr
    assert len(stderr.strip().splitlines()) == 1
    assert stderr.startswith("neardup: ")
    assert not (tmp_path / "out" / "summary.json").exists()


def test_an_earlier_output_is_not_overwritten_unasked(run, corpus, tmp_path):
    command = ("dedup", corpus, "-o", tmp_path / "out", "--recipe", "exact", "--quiet")
    assert run(*command) == (0, "", "")
    code, _, stderr = run(*command)
    assert code == 2
    assert "--overwrite" in stderr
    assert run(*command, "--resume") == (0, "", "")  # it is whole: nothing to do
    (tmp_path / "out" / "mine.txt").write_text("stays")
    table = tmp_path / "pages.csv"
    table.write_text(f"id,text\na,{article(1)}\nb,{article(2)}\n")
    other = ("dedup", table, *command[2:])
    code, _, stderr = run(*other, "--resume")
    assert code == 2
    assert "another run" in stderr
    assert run(*other, "--overwrite")[0] == 0
    assert (tmp_path / "out" / "mine.txt").read_text() == "stays"
    assert (tmp_path / "out" / "kept.csv").exists()
    assert not (tmp_path / "out" / "kept.jsonl").exists()
    assert not (tmp_path / "out" / ".work").exists()


def test_nothing_that_others_wrote_is_replaced(run, corpus, tmp_path):
    mine = tmp_path / "mine"
    (mine / "kept").mkdir(parents=True)
    (mine / "kept" / "thesis.html").write_text(f"<p>{article(5)}</p>")
    for options in ([], ["--overwrite"]):
        code, _, stderr = run("dedup", corpus, "-o", mine, "--recipe", "text", *options)
        assert code == 2
        assert "in the way" in stderr
    code, _, stderr = run("dedup", mine / "kept", "-o", mine)
    assert code == 2
    assert "would be replaced" in stderr
    assert (mine / "kept" / "thesis.html").exists()
    out = tmp_path / "out"
    assert run("dedup", corpus, "-o", out, "--recipe", "text", "--quiet")[0] == 0
    again = ("dedup", corpus, "-o", out, "--recipe", "text", "--overwrite", "--against", out)
    code, _, stderr = run(*again)
    assert code == 2
    assert "would be replaced" in stderr
    assert len((out / "kept.jsonl").read_text().splitlines()) == 30


def test_an_interrupted_replacement_is_finished(run, corpus, tmp_path, monkeypatch):
    """Killed while the old files go: the next run still knows which of them are ours."""
    out = tmp_path / "out"
    table = tmp_path / "pages.csv"
    table.write_text(f"id,text\na,{article(1)}\nb,{article(2)}\n")
    assert run("dedup", table, "-o", out, "--recipe", "text", "--quiet")[0] == 0

    def fail(source, target):
        if os.path.dirname(target) == str(out):
            raise OSError(28, "No space left on device")
        replace(source, target)

    replace = os.replace
    command = ("dedup", corpus, "-o", out, "--recipe", "text", "--quiet", "--overwrite")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        code, _, stderr = run(*command)
    assert code == 2
    assert "No space left" in stderr
    assert not (out / "summary.json").exists()
    assert run(*command, "--resume")[0] == 0
    assert sorted(path.name for path in out.glob("kept*")) == ["kept.jsonl"]


def test_no_arguments_print_the_help(run):
    code, _, stderr = run()
    assert code == 2
    assert stderr.startswith("Usage: ")
    assert "dedup" in stderr


def test_broken_records_are_named_and_the_run_goes_on(run, corpus, tmp_path):
    lines = corpus.read_text().splitlines()
    lines[3:3] = ["{not json", '{"id": "nul"}']
    broken = tmp_path / "broken.jsonl.gz"
    broken.write_bytes(gzip.compress("\n".join(lines).encode())[:-20])
    code, stdout, _ = run("dedup", broken, "-o", tmp_path / "out", "--recipe", "text")
    assert code == 0
    skipped = [
        json.loads(line) for line in (tmp_path / "out/skipped.jsonl").read_text().splitlines()
    ]
    reasons = {row["reason"] for row in skipped}
    assert {"bad json", "truncated gzip"} <= reasons
    assert all(row["file"].endswith("broken.jsonl.gz") for row in skipped)
    assert "skipped" in stdout


def _command(corpus, out, *more):
    return [sys.executable, "-m", "neardup", "dedup", str(corpus), "-o", str(out), *more]


def test_a_killed_run_is_resumed(corpus, tmp_path):
    """Kill -9 while reading; nothing half is left, and --resume gives the same answer."""
    folder = tmp_path / "many"
    folder.mkdir()
    for n in range(400):
        (folder / f"{n:03}.jsonl").write_bytes(
            corpus.read_bytes().replace(b'"id": "', b'"id": "%d-' % n)
        )
    out = tmp_path / "out"
    with subprocess.Popen(_command(folder, out, "--recipe", "text")) as process:
        deadline = time.monotonic() + 120
        while not list(out.glob(".work/part-5*.rows")):  # a few parts are whole
            assert process.poll() is None, "it ended before it could be killed"
            assert time.monotonic() < deadline
        process.send_signal(signal.SIGKILL)
    assert [path.name for path in out.iterdir()] == [".work"]
    whole = len(list(out.glob(".work/*.rows")))
    assert 0 < whole < 400
    before = {path: path.stat().st_mtime_ns for path in out.glob(".work/*.rows")}
    other = subprocess.run(
        _command(folder, out, "--resume", "--recipe", "exact"), capture_output=True, check=False
    )
    assert other.returncode == 2
    assert b"cannot resume" in other.stderr
    assert {path: path.stat().st_mtime_ns for path in out.glob(".work/*.rows")} == before
    subprocess.run(
        _command(folder, out, "--resume", "--recipe", "text"), check=True, capture_output=True
    )
    subprocess.run(
        _command(folder, tmp_path / "fresh", "--recipe", "text"), check=True, capture_output=True
    )
    for name in ("clusters.parquet", "kept.jsonl"):
        assert (out / name).read_bytes() == (tmp_path / "fresh" / name).read_bytes()


def test_two_runs_into_one_folder_are_refused(run, corpus, tmp_path):
    import fcntl

    (tmp_path / "out/.work").mkdir(parents=True)
    with open(tmp_path / "out/.work/lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, _, stderr = run("dedup", corpus, "-o", tmp_path / "out", "--recipe", "text")
    assert code == 2
    assert "in use" in stderr


def test_compare_prints_json_and_html(run, tmp_path):
    a, b = tmp_path / "a.html", tmp_path / "b.html"
    a.write_text(f"<title>A</title><p>{article(1)}</p><p>only here in a</p>")
    b.write_text(f"<title>B</title><script>alert(1)</script><p>{article(1)}</p>")
    code, stdout, _ = run("compare", a, b, "--json", "--html", tmp_path / "c.html")
    assert code == 0
    answer = json.loads(stdout)
    assert answer["verdict"] == "near-duplicate"
    assert answer["similarity"] == answer["signals"]["resemblance words:5"]
    assert "<mark>" in (tmp_path / "c.html").read_text()
    code, stdout, _ = run("compare", a, b)
    assert code == 0
    assert "only here in a" in stdout
    assert "near-duplicate" in stdout


def test_fingerprint_prints_a_line_a_page(run, corpus, tmp_path):
    code, stdout, _ = run("fingerprint", corpus)
    assert code == 0
    lines = [line.split("\t") for line in stdout.splitlines()]
    assert [name for name, _ in lines][:2] == ["p0", "p1"]
    assert all(len(value) == 16 for _, value in lines)
    out = tmp_path / "f.parquet"
    spec = 'MinHash(permutations=16, features="words:2")'
    assert run("fingerprint", corpus, "--spec", spec, "-o", out)[0] == 0
    table = pq.read_table(out)
    assert table.num_rows == 40
    assert table.schema.metadata[b"neardup.spec"].decode() == spec


def test_recipes_print_files_that_can_be_used(run, corpus, tmp_path):
    code, stdout, _ = run("recipes")
    assert code == 0
    assert "web" in stdout
    text = run("recipes", "text")[1]
    (tmp_path / "mine.toml").write_text(text.replace("threshold = 0.8", "threshold = 0.99"))
    assert run("dedup", corpus, "-o", tmp_path / "o", "--recipe", tmp_path / "mine.toml")[0] == 0
    assert json.loads((tmp_path / "o/summary.json").read_text())["removed"] == 0


@pytest.mark.parametrize("command", [[], *([name] for name in _COMMANDS)])
def test_help_is_fast_and_imports_nothing_heavy(command):
    code = (
        "import sys; sys.argv = ['neardup', *sys.argv[1:], '--help']\n"
        "import neardup\nfrom neardup.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(sorted({'numpy', 'pyarrow', 'numba', 'rich'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command], capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() == "[]"
    assert "Usage" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_closed_pipe_is_no_traceback(corpus):
    command = f"{sys.executable} -m neardup fingerprint {corpus} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr
    assert done.stdout.startswith("p0\t")
