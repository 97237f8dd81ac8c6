"""Controlled execution: running an implementation's real code in a world that we supply."""
