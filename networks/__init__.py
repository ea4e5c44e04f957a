"""Payment networks and bank-linking providers, as adapters behind small protocols.

Nothing here knows tenants, balances or HTTP. The apps above submit instructions and poll for
events at their own pace; an adapter never calls up.
"""
