/** `@svc/checks/module-state`: the rule about state at module level, for packages wherever they are. */
export { parseSource } from "../source.ts";
export { isExcepted } from "./exceptions.ts";
export { findModuleState } from "./find.ts";
