"""Learning from a stream of lines, each exactly once, whatever is cut off.

The order of things makes it so. Lines are first put into a journal on disk, then learned, and then acknowledged; now and then
the model is saved, with the number of the last record of the journal that it has learned, and the journal begins anew. After a
crash the model that was saved learns the rest of the journal, which gives the same bits as if nothing had happened, and
reading goes on after the last line of the journal::

    NAME/                 the model
    NAME.stream/
      lock                held by the one process that learns
      journal-…           lines that the saved model has not learned yet
      bad-lines.jsonl     lines that could not be read, and why
"""
