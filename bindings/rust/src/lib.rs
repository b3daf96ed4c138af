// SPDX-License-Identifier: BSD-2-Clause
//! IT-API 2.1 as it is in C: the manual pages hold. `examples/step6/rdma.rs` puts a safe layer on what it needs.

#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

include!(concat!(env!("OUT_DIR"), "/bindings.rs"));

// Macros of C, which bindgen does not see.
pub use it_lmr_create21 as it_lmr_create;
pub use it_rmr_create20 as it_rmr_create;
pub use it_rmr_link as it_rmr_bind;
pub const IT_TIMEOUT_INFINITE: u64 = u64::MAX;
