"""The service: records, selections and answers over HTTP, for many tenants.

`app.build_app` makes the application, `server.serve` runs it; `routes` has one module for each
kind of resource. A route is guarded by `guard`, which knows its scope before it reads a body.
"""
