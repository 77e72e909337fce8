"""Stage 3, untrusted: from a question to a certificate.

Data flow in; a `Verdict` flows out, whose certificate `certificates` has accepted. The search may be wrong or
give up; then the verdict says that it is undecided.
"""
