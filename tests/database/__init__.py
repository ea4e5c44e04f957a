"""An app of the test settings: what tests do otherwise to the database than the product."""
