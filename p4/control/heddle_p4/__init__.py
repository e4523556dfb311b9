"""Control plane of Heddle's P4 programs: one interface to a BMv2 switch, with Thrift behind it, and what each scheme is told."""
