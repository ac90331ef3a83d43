"""Routes, one module for each kind of resource. To add one, add its router to `ROUTERS`."""
