"""The books and the bank: what people decide about suspense and days."""
