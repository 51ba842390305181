"""Execute the path: threads over the parts of a corpus, a work folder, the result."""
