"""Implementations are hostile: every stage runs in a process of its own.

A crash, a hang, an exit, a memory balloon or a flood of output is a finding with its evidence kept;
it takes neither the gate nor earlier findings down.
"""
