"""Where and how work runs; nothing here changes a number.

Read `scope` and `backend` (NumPy or the devices of JAX), `share` and `processes` (several processes), then
`fingerprint`, `checkpoint`, `extend` and `resume` (runs that go on), `threads`, `memory` and `progress`.
"""
