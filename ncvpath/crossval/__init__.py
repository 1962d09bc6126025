"""How cross-validation is done: who is held out when, one fold, and where folds run."""
