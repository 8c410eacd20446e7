/** Who it was, where a command of `svc` did it. */
export const AN_OPERATOR = "an operator at the command line";
