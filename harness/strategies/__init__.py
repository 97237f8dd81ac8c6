"""Who runs next. One strategy per file, all behind the protocol of `harness.strategies.protocol`."""
