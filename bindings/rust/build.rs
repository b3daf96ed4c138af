// SPDX-License-Identifier: BSD-2-Clause
//! Declarations come from the C headers at each build, by the program bindgen: none can be out of date, and the
//! crate depends on no other. ITAPI_INCLUDE and ITAPI_LIB name folders in place of pkg-config's itapi-2.1.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn pkg_config(what: &str) -> Vec<String> {
    let output = Command::new("pkg-config").args([what, "itapi-2.1"]).output().expect("pkg-config is needed: apt install pkg-config");
    assert!(output.status.success(), "itapi-2.1 is not installed: apt install libitapi-dev, or set ITAPI_INCLUDE and ITAPI_LIB");
    String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect()
}

fn main() {
    let out = PathBuf::from(env::var("OUT_DIR").unwrap()).join("bindings.rs");
    let include = env::var("ITAPI_INCLUDE")
        .map_or_else(|_| pkg_config("--cflags"), |folder| vec![format!("-I{folder}"), "-DITAPI_ENABLE_V21_BINDINGS".to_owned()]);
    let status = Command::new("bindgen")
        .args(["src/itapi.h", "--allowlist-function", "itx?_.*", "--allowlist-type", "itx?_.*"])
        .args(["--allowlist-var", "ITX?_.*", "--no-prepend-enum-name", "--no-layout-tests", "--size_t-is-usize", "-o"])
        .arg(out)
        .arg("--")
        .args(include)
        .status()
        .expect("bindgen is needed: apt install bindgen");
    assert!(status.success(), "bindgen failed");
    match env::var("ITAPI_LIB") {
        Ok(folder) => println!("cargo:rustc-link-search=native={folder}"),
        Err(_) => pkg_config("--libs-only-L").iter().for_each(|flag| println!("cargo:rustc-link-search=native={}", &flag[2..])),
    }
    println!("cargo:rustc-link-lib=itapi");
    for name in ["ITAPI_INCLUDE", "ITAPI_LIB"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=src/itapi.h");
}
