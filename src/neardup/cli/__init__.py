"""The command line: thin commands that take options, make one library call and print.

Commands load when they are called and the library when they run, so that help is instant.
"""

from __future__ import annotations

import io
import sys
import warnings
from importlib import import_module

import click

from neardup import __version__

#: command -> its one line in `neardup --help`; the module of the same name holds it
_COMMANDS = {
    "dedup": "Find the copies in a corpus, and keep one page of each.",
    "compare": "Show what two pages share and what differs.",
    "fingerprint": "Print or save the fingerprint of every page.",
    "recipes": "List the recipes, or show one as a file to change.",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = getattr(import_module(f"neardup.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):  # from the table: no command is loaded for this
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="neardup %(version)s")
def cli() -> None:
    """Find near-duplicate web documents."""


def main() -> None:
    """Run the command line; what a user can mend is one line on stderr and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an id the terminal cannot show is no error
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = lambda message, *_: _complain(str(message))
    try:
        cli.main(standalone_mode=False)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        sys.exit(2)
    except click.ClickException as error:
        _complain(error.format_message())
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        _complain("interrupted")
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        sys.exit(1)
    except Exception as error:
        message = _explain(error)
        if message is None:
            raise
        _complain(message)
        sys.exit(2)


def _explain(error: Exception) -> str | None:
    """One line for an error that the user can mend; None for a mistake of ours."""
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        return f"{error.strerror or error}{where}"
    if isinstance(error, MemoryError):
        return "out of memory; fewer --threads need less"
    ours = ("neardup.", "pyarrow.")
    if isinstance(error, ValueError | RuntimeError) and type(error).__module__.startswith(ours):
        return str(error)
    return None


def _complain(message: str) -> None:
    from neardup.views.terminal import clean

    print(f"neardup: {clean(message)}", file=sys.stderr)
