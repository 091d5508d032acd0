//! Operations of the contract that are not built yet: they answer 501, after the gate.

use crate::call::Call;
use crate::failure::Failure;
use crate::gate::{Bearer, Member, Sender};
use crate::routes::Answer;
use crate::site::Site;

pub fn open(_: &Site, _: &Call) -> Answer {
    Err(Failure::not_built())
}

pub fn member(_: &Site, _: &Call, _: &Member) -> Answer {
    Err(Failure::not_built())
}

pub fn bearer(_: &Site, _: &Call, _: &Bearer) -> Answer {
    Err(Failure::not_built())
}

pub fn callback(_: &Site, _: &Call, _: &Sender) -> Answer {
    Err(Failure::not_built())
}
