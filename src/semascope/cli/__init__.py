"""The command line: one file for each command. Heavy imports wait until the arguments have been read."""
