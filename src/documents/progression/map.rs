//! The position of each level: in a column behind all that it requires, in a row with the levels of its track.

use crate::domain::catalogue::{Level, LevelKey};

/// Free columns between cards of one row that have nothing to do with each other.
const APART: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub column: usize,
    pub row: usize,
}

/// One level is required for another; both are indexes into the list of levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edge {
    pub from: usize,
    pub to: usize,
    /// Whether this is one of several levels that meet the requirement.
    pub any: bool,
}

#[derive(Debug)]
pub(super) struct Map {
    pub cells: Vec<Cell>,
    pub edges: Vec<Edge>,
    pub columns: usize,
    pub rows: usize,
}

impl Map {
    pub(super) fn of(levels: &[&Level]) -> Map {
        let edges = edges(levels);
        let columns = columns(levels, &edges);
        let rows = rows(levels, &columns, &edges);
        let cells: Vec<Cell> =
            columns.iter().zip(&rows).map(|(column, row)| Cell { column: *column, row: *row }).collect();
        let most = |of: fn(&Cell) -> usize| cells.iter().map(of).max().map_or(0, |most| most + 1);
        Map { columns: most(|cell| cell.column), rows: most(|cell| cell.row), cells, edges }
    }

    /// How many columns are free at the right end of these first rows.
    pub(super) fn free_at_the_right(&self, rows: usize) -> usize {
        let taken = self.cells.iter().filter(|cell| cell.row < rows).map(|cell| cell.column + 1).max();
        self.columns - taken.unwrap_or(0)
    }
}

/// The edges from the lowest levels that meet each requirement.
fn edges(levels: &[&Level]) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (to, level) in levels.iter().enumerate() {
        for required in &level.requires {
            let meets = |at: &usize| *at != to && required.met_by(&levels[*at].key());
            let enough: Vec<usize> = (0..levels.len()).filter(meets).collect();
            let lowest = enough.iter().map(|at| &levels[*at].cat_id).min();
            let sources: Vec<usize> = enough.iter().copied().filter(|at| Some(&levels[*at].cat_id) == lowest).collect();
            edges.extend(sources.iter().map(|from| Edge { from: *from, to, any: sources.len() > 1 }));
        }
    }
    edges
}

/// The column of each level: one further than the nearest source of an edge with a choice, than every other source, and than the
/// lower levels of the same lane.
fn columns(levels: &[&Level], edges: &[Edge]) -> Vec<usize> {
    let mut columns: Vec<Option<usize>> = vec![None; levels.len()];
    let column = |at: usize, columns: &[Option<usize>]| {
        let lower = |one: &usize| lane(levels[*one]) == lane(levels[at]) && levels[*one].cat_id < levels[at].cat_id;
        let lower = (0..levels.len()).filter(lower).map(|one| columns[one]);
        let sure = edges.iter().filter(|edge| edge.to == at && !edge.any).map(|edge| columns[edge.from]);
        let behind = lower.chain(sure).collect::<Option<Vec<usize>>>()?;
        let mut choice = edges.iter().filter(|edge| edge.to == at && edge.any).peekable();
        let nearest = match choice.peek() {
            None => None,
            Some(_) => Some(choice.filter_map(|edge| columns[edge.from]).min()?),
        };
        Some(behind.into_iter().chain(nearest).map(|column| column + 1).max().unwrap_or(0))
    };
    // A sound catalogue has a level to be placed in each round.
    for _ in 0..levels.len() {
        for at in 0..levels.len() {
            columns[at] = columns[at].or_else(|| column(at, &columns));
        }
    }
    columns.into_iter().map(|column| column.unwrap_or(0)).collect()
}

/// The row of each level. A lane goes on in the row that it comes from, if that is free. Else it takes the first row below that
/// one whose cards are more than [`APART`] columns away, or a new row.
fn rows(levels: &[&Level], columns: &[usize], edges: &[Edge]) -> Vec<usize> {
    let mut rows: Vec<usize> = vec![0; levels.len()];
    let mut filled: Vec<Vec<usize>> = Vec::new();
    for members in lanes(levels) {
        let taken: Vec<usize> = members.iter().map(|at| columns[*at]).collect();
        let first = taken.iter().min().copied().unwrap_or(0);
        let sources = edges.iter().filter(|edge| members.contains(&edge.to) && !members.contains(&edge.from));
        let sources: Vec<usize> = sources.map(|edge| rows[edge.from]).filter(|row| *row < filled.len()).collect();
        let goes_on = |row: &usize| filled[*row].iter().all(|column| *column < first);
        let apart = |row: &usize| filled[*row].iter().all(|one| taken.iter().all(|other| one.abs_diff(*other) > APART));
        let below = sources.iter().max().map_or(0, |row| row + 1);
        let found = sources.iter().copied().find(goes_on).or_else(|| (below..filled.len()).find(apart));
        let row = found.unwrap_or(filled.len());
        if row == filled.len() {
            filled.push(Vec::new());
        }
        filled[row].extend(taken);
        members.iter().for_each(|at| rows[*at] = row);
    }
    rows
}

/// The levels of each track, as indexes into the list.
fn lanes(levels: &[&Level]) -> Vec<Vec<usize>> {
    let mut lanes: Vec<Vec<usize>> = Vec::new();
    for (at, level) in levels.iter().enumerate() {
        match lanes.iter_mut().find(|members| lane(levels[members[0]]) == lane(level)) {
            Some(members) => members.push(at),
            None => lanes.push(vec![at]),
        }
    }
    lanes
}

fn lane(level: &Level) -> (&str, &str) {
    let LevelKey { cat_group, track, .. } = level.key();
    (cat_group, track)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::catalogue::Catalogue;

    fn places(catalogue: &Catalogue) -> Vec<(&str, Cell)> {
        let levels: Vec<&Level> = catalogue.levels().collect();
        let map = Map::of(&levels);
        levels.iter().map(|level| &*level.name).zip(map.cells).collect()
    }

    #[test]
    fn a_level_stands_behind_what_it_requires_and_on_no_other() {
        for catalogue in [
            Catalogue::built_in(),
            &Catalogue::built_in().extended(include_str!("../../../packaging/catalogue.json")).unwrap(),
        ] {
            let levels: Vec<&Level> = catalogue.levels().collect();
            let map = Map::of(&levels);
            for edge in map.edges.iter().filter(|edge| !edge.any) {
                assert!(map.cells[edge.from].column < map.cells[edge.to].column, "{}", levels[edge.to]);
            }
            for (at, cell) in map.cells.iter().enumerate() {
                assert!(!map.cells[..at].contains(cell), "{} stands on another", levels[at]);
                assert!(cell.column < map.columns && cell.row < map.rows);
            }
        }
    }

    #[test]
    fn a_track_goes_on_in_the_row_that_it_comes_from() {
        let places = places(Catalogue::built_in());
        let find = |name: &str| places.iter().find(|(one, _)| *one == name).unwrap().1;
        let row = find("Flyer Level 1").row;
        for (column, name) in
            ["Flyer Level 1", "Backflying Level 2", "Static Level 3", "Static Level 4"].iter().enumerate()
        {
            assert_eq!(find(name), Cell { column, row }, "{name}");
        }
        assert_ne!(find("Dynamic Level 3").row, row);
        assert_eq!(find("Assistant Flight Coach").row, find("Instructor Level 4").row);
        assert_eq!(find("Coach").column, 3, "behind any Level 3");
    }
}
