/** `@svc/sop/editor`: loaded when somebody writes a procedure. */
export { SopEditor, type SopEditorDeps } from "./editor.ts";
export { finishPending } from "./commit.ts";
export { draftJson, savedJson, sourceJson, undoneJson, versionDetailJson, versionJson } from "../json.ts";
