/** `@svc/sop/desk`: loaded when somebody writes a procedure. */
export { SopDesk, type SopDeskDeps } from "./desk.ts";
export { draftJson, savedJson, sourceJson } from "../json/draft-json.ts";
