"""Stage 3, trusted: what a certificate says, and the code that checks it.

A certificate and data flow in; a `Check` flows out. Nothing here solves anything or imports what does:
whoever doubts a verdict needs to read this package only.
"""
