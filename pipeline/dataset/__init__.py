"""What the commands of ``newsbeam dataset`` do where more than one part of the program is needed."""
