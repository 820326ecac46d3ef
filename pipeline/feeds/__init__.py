"""What stands behind the commands of ``newsbeam feeds``: editing lists, looking at documents, judging polls."""
