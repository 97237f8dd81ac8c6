"""Sequential programs: one strand, checked call by call against a contract's model."""
