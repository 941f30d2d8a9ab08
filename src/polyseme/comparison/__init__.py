"""Many ways of transfer beside each other: ranked, with how sure each score is and what it cost."""
