"""Grammars of file formats, shared by readers and exporters; nothing here knows a rig."""
