/** The lazy chunk of the procedure editor: the lists do not load it. */
export { ChangesOfSop, SopChanges } from "./saved-changes.tsx";
export { NewProcedure, ProcedureEditor } from "./editor.tsx";
