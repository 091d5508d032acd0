//! Tables for other programs: CSV (RFC 4180) in which no cell begins with what a spreadsheet takes for a formula.

/// Writes one row, with its line end.
pub fn write_row(table: &mut String, cells: &[String]) {
    for (place, cell) in cells.iter().enumerate() {
        if place > 0 {
            table.push(',');
        }
        write_cell(table, cell);
    }
    table.push_str("\r\n");
}

/// Quoted where it must be. Text that a spreadsheet would carry out as a formula begins with an apostrophe.
fn write_cell(table: &mut String, cell: &str) {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let quoted = formula || cell.contains([',', '"', '\r', '\n']) || cell.trim() != cell;
    if !quoted {
        return table.push_str(cell);
    }
    table.push('"');
    if formula {
        table.push('\'');
    }
    table.push_str(&cell.replace('"', "\"\""));
    table.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_quoted_where_it_must_be_and_never_a_formula() {
        for (cell, written) in [
            ("", ""),
            ("a good one", "a good one"),
            ("one, two", "\"one, two\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            (" kept ", "\" kept \""),
            ("=1+1", "\"'=1+1\""),
            ("+41 79", "\"'+41 79\""),
            ("-2", "\"'-2\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\t=1", "\"'\t=1\""),
            ("＝1", "\"'＝1\""),
            ("a=b", "a=b"),
        ] {
            let mut table = String::new();
            write_cell(&mut table, cell);
            assert_eq!(table, written, "{cell:?}");
        }
    }
}
