export { readClip } from "../../model/clipboard";
export * from "./activities";
export * from "./connections";
export * from "./definition";
export * from "./notes";
export * from "./paste";
export * from "./positions";
export { addState, addTransition, renameState, setInitial, setTransition } from "./states";
