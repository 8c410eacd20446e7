/** Rows as the types that their SQL makes. To node:sqlite every column may hold anything, so these are the places that trust the SQL. */

export const rowOf = <Row extends object>(row: object | undefined): Row | undefined => row as Row | undefined;

export const rowsOf = <Row extends object>(rows: readonly object[]): Row[] => rows as Row[];
