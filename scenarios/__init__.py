"""Situations worth creating: roles, operations and claims, as records that any runtime can play."""
