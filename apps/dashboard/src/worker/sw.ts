addEventListener("install", () => {});
export {};
