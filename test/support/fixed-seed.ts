import fc from "fast-check";

// CI draws the same cases each time, so that it tells of the change and not of the draw. All other runs draw new ones.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_128 });
