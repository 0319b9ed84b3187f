"""The processes of the contenders: how they are asked, what answers in each, and what is made alike for all of them.

Nothing that `foreign_worker` imports needs the workbench: it runs in a peer's own environment.
"""
