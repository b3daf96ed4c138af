def write_report(r, o): pass
