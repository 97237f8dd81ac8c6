"""How an implementation is reached: from the words on a command line to calls on model values."""
