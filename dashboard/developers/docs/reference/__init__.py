"""The API reference: openapi.yaml as pages, one for each resource (decision 0199)."""
