SET table.dynamic-table-options.enabled = true
