"""BAI2: records of fields between commas, by the Cash Management Balance Reporting
Specifications."""
