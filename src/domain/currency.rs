//! STUB until the real one arrives.
#[derive(Default)]
pub struct Currency {
    pub current: bool,
    pub renewal: Option<i64>,
}
#[derive(Default)]
pub struct Currencies {
    pub flyer: Currency,
    pub coach: Currency,
    pub instructor: Currency,
    pub trainer: Currency,
    pub examiner: Currency,
    pub military: Currency,
}
