/** `@svc/source/module-state`: the rule about state at module level, for the check of this checkout and for packages wherever they are. */
export { parseSource } from "../source.ts";
export { isExcepted } from "./exceptions.ts";
export { findModuleState, type FoundState } from "./find.ts";
