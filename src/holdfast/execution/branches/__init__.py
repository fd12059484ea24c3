"""Sleeping branches: parts of a wide instance that a burst does not touch stay packed (decision 43).

A container with many kids, such as a `gather` of 10,000 calls, has one branch per kid: the activation of the kid and all
below it, with their scopes, bookmarks and effects. A branch that waits is stored as one packed record, in a page tree
beside the large variables. A burst unpacks only the branches that it uses: the look-up of a bookmark, an effect or a kid
wakes its branch.
"""
