/** `@svc/sop/desk`: loaded when somebody writes a procedure. */
export { SopDesk, type SopDeskDeps } from "./desk.ts";
export { finishPending } from "./commit.ts";
export { draftJson, savedJson, sourceJson, versionDetailJson, versionJson } from "../json/draft-json.ts";
