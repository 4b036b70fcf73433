"""Learning from a stream of lines, each exactly once, even after a crash.

Lines are first written to a journal on disk, then learned, and then acknowledged. From time to time the model is saved with
the number of the last journal record it has learned, and the journal is cleared. After a crash, the saved model learns the
rest of the journal, to the same bits as without the crash, and reading continues after the last line of the journal::

    NAME/                 the model
    NAME.stream/
      lock                held by the only learning process
      journal-…           lines that the saved model has not learned yet
      bad-lines.jsonl     unreadable lines with their reasons
"""
