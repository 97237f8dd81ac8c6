"""Known bugs: each module here is the reference with one bug planted, naming the clause it breaks."""
