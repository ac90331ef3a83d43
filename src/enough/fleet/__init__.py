"""Who does the work of a long run: processes of this machine, or the workers of a Ray cluster.

`config` is the `[engine]` table, `jobs` is what work has to look like, `devices` gives each process
its GPU, `ray_crew` and `ray_cluster` are all that knows Ray.
"""
