"""JSON, XML and MATLAB documents that are parsed object by object: one module per data set."""
