"""Evaluation in child processes, for languages whose cost cannot be proven beforehand (ADR 49).

`children` is the pool in this process, `zygote` the process that forks the children, `worker` the loop of a child and
`responder` the evaluation itself. Requests and answers cross as bytes.
"""
