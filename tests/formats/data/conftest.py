"""Scripts here made the files beside them, with packages that the tests do without."""

collect_ignore_glob = ["make_*.py"]
