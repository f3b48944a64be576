"""Transactions as they pass: which transactional ids are at work, whose transaction is open, how the last one ended."""
