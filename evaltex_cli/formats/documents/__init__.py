"""JSON, XML, MATLAB and text documents that are parsed object by object: one module per data set."""
