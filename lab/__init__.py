"""The laboratory: measures one mechanism against another, and both against stock PostgreSQL, in one interleaved run."""
